"""The shared helpers of the acceptance tests: the running gateway, its gRPC stubs, and the clients of its object store."""
