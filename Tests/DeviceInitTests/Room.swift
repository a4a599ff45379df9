// The tests of DeviceInit; its first file replaces this one.
