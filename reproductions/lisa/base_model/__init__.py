"""The pre-training of the in-house model that all fine-tuning starts from."""
