"""Secrets and ConfigMaps of Kubernetes."""
