"""How trials are carried out: an executor takes jobs and gives futures."""
