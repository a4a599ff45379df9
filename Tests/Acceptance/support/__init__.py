"""What the acceptance tests share: the running gateway, its gRPC stubs, and the clients of its object store."""
