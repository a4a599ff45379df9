// The tests of RPC; its first file replaces this one.
