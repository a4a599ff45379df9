import Glibc

/// The machine code of the process: its program's and its libraries'.
package enum ProgramCode {
    /// Returns the resident pages of code to the kernel, most of which only the start needs. Code that runs again is mapped from the
    /// page cache, 16 pages together.
    ///
    /// Only mappings that can be executed are released. They are never written to, unlike the other parts of a program's file,
    /// which the loader relocates. Without `/proc`, and for memory that is locked, it does nothing.
    package static func releasePages() {
        guard let maps = try? PrivateFile.read("/proc/self/maps") else { return }
        for line in maps.split(separator: 0x0A) {
            guard let range = codeRange(String(decoding: line, as: UTF8.self)) else { continue }
            madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
        }
    }

    /// Returns the addresses of a line of proc_pid_maps(5) if it is code of a file.
    private static func codeRange(_ line: String) -> Range<UInt>? {
        let words = line.split(separator: " ")
        guard words.count >= 6, words[1] == "r-xp", words[5].hasPrefix("/") else { return nil }
        let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        return ends.count == 2 && ends[0] < ends[1] ? ends[0]..<ends[1] : nil
    }
}
