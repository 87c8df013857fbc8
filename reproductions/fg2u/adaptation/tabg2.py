"""Table G.2: SQuAD-Seq by model that reads, unrolled depth and base of the meta model."""

from reproductions.fg2u.adaptation.tabg1 import depth_table

task = depth_table("tabg2", "Table G.2", "squadseq")
