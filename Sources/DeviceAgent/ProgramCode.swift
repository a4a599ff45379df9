import Basics
import Foundation

/// The memory of the program's code.
enum ProgramCode {
    /// Returns the resident pages of code to the kernel: most are those of the start, and of uploads. Code that runs again is read
    /// from the page cache.
    ///
    /// Only mappings that can be executed are released. They are never written to, unlike the other parts of a program's file,
    /// which the loader relocates.
    static func releasePages() {
        guard let maps = try? PrivateFile.read("/proc/self/maps") else { return }
        for line in maps.split(separator: 0x0A) {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard words.count >= 6, words[1] == "r-xp", words[5].hasPrefix("/") else { continue }
            let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard ends.count == 2, ends[0] < ends[1] else { continue }
            madvise(UnsafeMutableRawPointer(bitPattern: ends[0]), Int(ends[1] - ends[0]), MADV_DONTNEED)
        }
    }
}
