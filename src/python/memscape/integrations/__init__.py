"""Hooks for trainers. Each imports its trainer, so import the one that you have."""
