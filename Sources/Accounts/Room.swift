// The room Accounts; its first file replaces this one.
