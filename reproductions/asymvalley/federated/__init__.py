"""Table 1: FedSign and five other federated algorithms on Dirichlet splits."""
