"""Figure 15: valleys along seven common noises, ViT on Food-101."""

from reproductions.asymvalley.valleys.claims import noise_task

task = noise_task("fig15", "vit_food101", least=0.0)
