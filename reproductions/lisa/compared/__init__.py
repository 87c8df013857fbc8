"""Ways to fine-tune a language model of 135M weights: losses, scores, memory and time of a step."""
