"""MT-Bench's questions, and what a judge says of the answers: Tables 3, 8 and 9."""
