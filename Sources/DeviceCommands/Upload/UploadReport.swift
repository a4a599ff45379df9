import Basics
import CommandLineInterface
import DeviceClient
import HTTPClient
import JSON
import Protobuf

/// The reason why a file is not uploaded.
enum SkipReason: Sendable {
    case stored(fileID: String)
    case deleted(fileID: String)
    /// Another process is uploading it.
    case busy

    /// The word for programs.
    var name: String {
        switch self {
        case .stored: "stored"
        case .deleted: "deleted"
        case .busy: "busy"
        }
    }

    var fileID: String {
        switch self {
        case .stored(let fileID), .deleted(let fileID): fileID
        case .busy: ""
        }
    }

    /// A sentence without a full stop.
    var text: String {
        switch self {
        case .stored(let fileID): fileID.isEmpty ? "this device uploaded it" : "the gateway has it as file \(fileID)"
        case .deleted: "it was deleted at the gateway; --again uploads it again"
        case .busy: "another process is uploading it"
        }
    }
}

extension TransferReporter {
    /// Reports a file that is not uploaded.
    ///
    /// - Parameter asLine: whether people get a line.
    func report(_ file: UploadSelection.File, _ reason: SkipReason, asLine: Bool) {
        event(
            "skipped",
            [
                ("file", .string(file.path)), ("size_bytes", .number(file.size)), ("reason", .string(reason.name)),
                ("file_id", .string(reason.fileID)),
            ])
        if asLine { line("skipped \(file.path): \(reason.text)") }
    }

    /// The number of links that people get to know by their names.
    private static let linksInText = 5

    /// Reports symbolic links below directories, whose files are not uploaded.
    func reportLeftOut(links: [String]) {
        guard !links.isEmpty else { return }
        event(
            "links", [("count", .number(Int64(links.count))), ("files", .array(links.prefix(20).map { .string($0) }))])
        let more = links.count > Self.linksInText ? " and \(links.count - Self.linksInText) more" : ""
        let names = links.prefix(Self.linksInText).joined(separator: ", ") + more
        let verb = links.count == 1 ? "is" : "are"
        warning("\(TextLayout.count(links.count, "symbolic link")) \(verb) left out: \(names)")
    }

    /// Reports an error of a file; empty where the failure is of no file.
    func fail(_ failure: ClientFailure, _ file: String) -> ExitCode { fail(failure, of: (member: "file", id: file)) }

    /// Reports what happens to the file `key`.
    func report(_ notice: UploadNotice, of key: String) {
        switch notice {
        case .began(let state, let acknowledged):
            let source = state.source
            begin(key, name: Path.name(of: source.path), total: source.size, done: acknowledged)
            if acknowledged > 0 {
                let sizes = "\(ByteCount.text(acknowledged)) of \(ByteCount.text(source.size))"
                line("continuing \(source.path): \(sizes) already stored")
            }
            event(
                "begun",
                [
                    ("file", .string(source.path)), ("size_bytes", .number(source.size)),
                    ("done_bytes", .number(acknowledged)),
                ])
        case .tagsKept(let tags):
            let shown = tags.isEmpty ? "no tags" : TagTemplates.text(of: tags)
            warning("\(key) keeps the tags with which its upload began (\(shown)); --restart begins it again")
        case .position(let acknowledged, let size): set(acknowledged, total: size, of: key)
        case .moved(let bytes): add(bytes, to: key)
        case .acknowledged(let part, let bytes):
            event(
                "acknowledged",
                [("file", .string(key)), ("part", .number(Int64(part))), ("size_bytes", .number(bytes))])
        case .waiting(let what, let reason, let delay):
            // A token or credentials may have been requested for the step.
            let step = (reason as? CallFailure)?.method.name ?? what
            let failure = ClientFailure(reason, file: step, hint: "trying again in \(delay.rounded)")
            retry(step, of: key, key.isEmpty ? failure.message : "\(key): \(failure.message)")
            event(
                "waiting",
                [
                    ("file", .string(key)), ("operation", .string(step)), ("reason", .string(failure.message)),
                    ("milliseconds", .number(delay.nanoseconds / 1_000_000)),
                ])
        case .addressChanged(let message):
            warning(message)
            event("address", [("message", .string(message))])
        case .keyChanged(let message):
            warning(message)
            event("key", [("message", .string(message))])
        case .restarted:
            warning("the stored parts of \(key) are lost: sending it from the beginning")
            event("restarted", [("file", .string(key))])
        }
    }

    /// Reports a confirmed file.
    ///
    /// - Parameter name: the name for people, if it is not `file`.
    func report(_ outcome: Uploader.Outcome, of file: String, shownAs name: String?, in elapsed: Duration) {
        end(file)
        event(
            "completed",
            [
                ("file", .string(outcome.source.path)), ("logical_upload_id", .string(outcome.logicalID)),
                ("upload_id", .string(outcome.uploadID)), ("file_id", .string(outcome.fileID)),
                ("size_bytes", .number(outcome.source.size)), ("part_count", .number(Int64(outcome.parts))),
                ("etag", .string(outcome.etag)),
                ("stored_name", .string(FileLabels.storedName(ofFile: outcome.source.path) ?? "")),
            ])
        let result = outcome.fileID.isEmpty ? "upload \(outcome.uploadID)" : "file \(outcome.fileID)"
        let shown = name ?? file
        line("uploaded \(shown): \(ByteCount.text(outcome.source.size)) in \(elapsed.clock), \(result)")
    }
}

extension Duration {
    /// The duration as `0:07`, rounded up to seconds.
    package var clock: String { ProgressLine.clock(Int64((self / .seconds(1)).rounded(.up))) }

    /// The duration as a text for people.
    package var rounded: String {
        let seconds = nanoseconds / 1_000_000_000
        return seconds < 1 ? "less than a second" : seconds == 1 ? "a second" : "\(seconds) s"
    }
}
