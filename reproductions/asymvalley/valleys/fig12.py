"""Figure 12: valleys along seven common noises, ResNet20 on SVHN."""

from reproductions.asymvalley.valleys.claims import noise_task

task = noise_task("fig12", "resnet20_svhn", least=0.05)
