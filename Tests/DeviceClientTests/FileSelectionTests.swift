import Basics
import CLinux
import Foundation
import TestSupport
import Testing

@testable import DeviceClient

@Suite(.timeLimited) struct FileSelectionTests {
    @Test(arguments: [
        ("*.mcap", "a.mcap", true), ("*.mcap", "runs/7/a.mcap", true), ("*.mcap", "a.mcap.tmp", false),
        ("runs/*.mcap", "runs/a.mcap", true), ("runs/*.mcap", "runs/7/a.mcap", false),
        ("runs/**/*.mcap", "runs/a.mcap", true), ("runs/**/*.mcap", "runs/7/8/a.mcap", true),
        ("**/*.log", "a.log", true), ("runs/**", "runs/7/8/x", true), ("runs/**", "other/x", false),
        ("/*.mcap", "a.mcap", true), ("/*.mcap", "runs/a.mcap", false), ("run[0-9]?", "run12", true),
        ("run[0-9]?", "run1", false), ("**", "a/b/c", true), ("a/**/**/b", "a/b", true),
    ])
    func patternMatchesPaths(pattern: String, path: String, matches: Bool) throws {
        #expect(try #require(FilePattern(pattern)).matches(path) == matches)
    }

    @Test(arguments: ["", "/", "//"]) func emptyPatternIsRefused(text: String) { #expect(FilePattern(text) == nil) }

    /// A pattern for which a simple matcher needs exponential time.
    @Test func manyStarsAreMatchedInNoTime() throws {
        let pattern = try #require(FilePattern(Array(repeating: "**", count: 60).joined(separator: "/") + "/x"))
        let path = Array(repeating: "a", count: 500).joined(separator: "/")
        #expect(!pattern.matches(path))
        #expect(pattern.matches(path + "/x"))
    }

    @Test func excludedFilesAreLeftOutThoughIncluded() throws {
        let filter = FileFilter(
            include: [try #require(FilePattern("*.mcap"))], exclude: [try #require(FilePattern("tmp/**"))])
        #expect(filter.admits("run/a.mcap"))
        #expect(!filter.admits("tmp/a.mcap"))
        #expect(!filter.admits("run/a.log"))
    }

    /// A file system may keep any number of seconds.
    @Test(
        arguments: [
            (1 << 40, Int64.max), (-(1 << 40), Int64.min), (.max, .max), (.min, .min),
            (9_223_372_036, 9_223_372_036_000_000_007),
            (-1, -999_999_993),
        ] as [(Int, Int64)])
    func farTimesAreTheFirstOrTheLastOnes(seconds: Int, nanoseconds: Int64) {
        var status = stat()
        status.st_mtim = timespec(tv_sec: seconds, tv_nsec: 7)
        #expect(SourceIdentity(path: "/a", status).modified == nanoseconds)
    }

    @Test func farTimeHasADate() throws {
        var tags = TagTemplates()
        try tags.set("key", TextTemplate("{date}"))
        #expect(tags.tags(of: "a", size: 0, modified: .max) == ["key": "2262-04-11"])
        #expect(tags.tags(of: "a", size: 0, modified: .min) == ["key": "1677-09-21"])
    }

    @Test func nameThatIsNotUTF8IsReported() throws {
        let root = NSTemporaryDirectory() + "tree-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: root) }
        let path = Array(root.utf8CString.dropLast()) + [0x2F, CChar(bitPattern: 0xFF), 0]
        close(open(path, O_WRONLY | O_CREAT, 0o600))
        defer { unlink(path) }
        try Data().write(to: URL(fileURLWithPath: root + "/\u{FC}"))
        var (names, failures): ([String], [FolderListing.Failure]) = ([], [])
        try FileTree(root).forEach(failed: { failures.append($0) }) { file, _ in names.append(file.relativePath) }
        #expect(names == ["\u{FC}"])
        #expect(
            failures.map(\.description) == [
                "\(root) has names that are not UTF-8, whose files and folders are left out: \\xFF"
            ])
    }

    @Test func linksAreReportedAndNotFollowed() throws {
        let root = NSTemporaryDirectory() + "tree-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: root + "/run", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: root) }
        try Data().write(to: URL(fileURLWithPath: root + "/run/a"))
        for (link, target) in [("run/b", "a"), ("latest", "run"), ("gone", "nothing")] {
            #expect(symlink(target, "\(root)/\(link)") == 0)
        }
        var (names, links): ([String], [String]) = ([], [])
        try FileTree(root).forEach(linked: { links.append($0.relativePath) }, failed: { _ in }) { file, _ in
            names.append(file.relativePath)
        }
        #expect(names == ["run/a"])
        #expect(links == ["gone", "latest", "run/b"])
    }

    @Test func programsOwnFolderIsLeftOut() throws {
        let root = NSTemporaryDirectory() + "tree-\(UUID().uuidString)"
        let own = root + "/device"
        try FileManager.default.createDirectory(atPath: own + "/run", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: root) }
        for file in ["a", "device/b", "device/run/c"] { try Data().write(to: URL(fileURLWithPath: "\(root)/\(file)")) }
        var names: [String] = []
        try FileTree(root, except: DirectoryIdentity(own)).forEach(failed: { _ in }) { file, _ in
            names.append(file.relativePath)
        }
        #expect(names == ["a"])
        // A selection of the folder itself, or of one in it, would find nothing without a word.
        for path in [own, own + "/run"] {
            let failure = #expect(throws: FolderListing.Failure.self) {
                try FileTree(path, except: DirectoryIdentity(own)).forEach(failed: { _ in }) { _, _ in }
            }
            #expect(failure?.description == "\(path) is in the program's own folder, whose files are left out")
        }
    }

    /// Its path is longer than the system takes, which holds for every user.
    @Test func directoryThatCannotBeReadHidesNoOther() throws {
        let root = NSTemporaryDirectory() + "tree-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: root) }
        let name = String(repeating: "d", count: 250)
        var folders = [open(root, O_RDONLY | O_DIRECTORY)]
        for _ in 0..<20 {
            let parent = try #require(folders.last)
            #expect(mkdirat(parent, name, 0o700) == 0)
            folders.append(openat(parent, name, O_RDONLY | O_DIRECTORY))
        }
        // In reverse: the system removes only what is empty.
        defer {
            for parent in folders.dropLast().reversed() { unlinkat(parent, name, AT_REMOVEDIR) }
            for folder in folders { close(folder) }
        }
        for file in ["a", "z"] { try Data().write(to: URL(fileURLWithPath: "\(root)/\(file)")) }
        var (names, failures): ([String], [FolderListing.Failure]) = ([], [])
        try FileTree(root).forEach(failed: { failures.append($0) }) { file, _ in names.append(file.relativePath) }
        #expect(names == ["a", "z"])
        #expect(failures.map(\.code) == [ENAMETOOLONG])
        #expect(failures.first?.path.hasPrefix(root) == true)
    }

    @Test(arguments: [
        ("{name}", "drive.mcap"), ("{stem}-{ext}", "drive-mcap"), ("{dir1}/{dir-1}", "plant/run7"),
        ("{dir}", "plant/run7"), ("{path}", "plant/run7/drive.mcap"), ("{date}", "2026-11-21"),
        ("{time}", "2026-11-21T08:34:23Z"), ("{size} B", "12 B"), ("{{literal}}", "{literal}"),
    ])
    func templateTakesValuesOfTheFile(template: String, value: String) throws {
        var tags = TagTemplates()
        try tags.set("key", TextTemplate(template))
        #expect(tags.tags(of: "plant/run7/drive.mcap", size: 12, modified: 1_795_250_063_999_000_000) == ["key": value])
    }

    @Test func tagWithoutValueIsLeftOut() throws {
        var tags = TagTemplates()
        try tags.set("run", TextTemplate("{dir3}"))
        try tags.set("line", TextTemplate("3"))
        #expect(tags.tags(of: "plant/run7/drive", size: 0, modified: 0) == ["line": "3"])
    }

    @Test(arguments: ["{dir0}", "{nothing}", "{dir+1}", "{}"]) func unknownPlaceholderIsRefused(text: String) {
        var tags = TagTemplates()
        #expect(throws: TextTemplate.Problem.self) { try tags.set("key", TextTemplate(text)) }
    }

    @Test(arguments: ["{name", "name}"]) func unclosedBraceIsRefused(text: String) {
        #expect(throws: TextTemplate.Problem.self) { try TextTemplate(text) }
    }
}
