"""Hooks for trainers. Each module imports its trainer, so import only the one you use."""
