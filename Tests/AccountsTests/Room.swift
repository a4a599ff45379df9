// The tests of Accounts; its first file replaces this one.
