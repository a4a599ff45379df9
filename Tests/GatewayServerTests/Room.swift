// The tests of GatewayServer; its first file replaces this one.
