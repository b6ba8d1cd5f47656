"""One process over points and fidelities."""
