"""MANtIS."""
