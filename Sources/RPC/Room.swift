// The room RPC; its first file replaces this one.
