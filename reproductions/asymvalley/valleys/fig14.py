"""Figure 14: valleys along seven common noises, AlexNet on Food-101."""

from reproductions.asymvalley.valleys.claims import noise_task

task = noise_task("fig14", "alexnet_food101", least=0.05)
