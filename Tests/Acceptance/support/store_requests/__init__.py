"""Requests to the object store, recorded with their responses; `scripts/store-requests` compares two recordings."""
