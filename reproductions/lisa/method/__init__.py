"""LISA as a library, beside the ways to fine-tune that it is compared with."""
