"""Networks shared by papers, one readable file each."""
