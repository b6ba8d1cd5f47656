"""A simulated disk for power cuts: what a process writes is recorded (recorder), then cut anywhere (model)."""
