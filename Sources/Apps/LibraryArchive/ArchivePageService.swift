import AppProto
import CommonProto
import GRPCWire
import HTTPTypes
import RPC

/// The service ArchivePageService, which sends the page and its files.
struct ArchivePageService: ArchivePageServiceHandler {
    /// Fields of every response: no other page can embed the page, and it loads nothing from elsewhere.
    private static let fields = [
        ("cache-control", "max-age=3600"), ("accept-ranges", "bytes"), ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"), ("cross-origin-opener-policy", "same-origin"),
        (
            "content-security-policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                + "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
        ),
    ]

    func getArchivePage(_ request: GetArchivePageRequest, context: CallContext) async throws -> HttpBody {
        respond(with: .page, context)
    }

    func getArchivePageFile(_ request: GetArchivePageFileRequest, context: CallContext) async throws -> HttpBody {
        guard let file = PageFile.named(request.name) else {
            throw RPCError.notFound("the page has no file \(request.name.prefix(64))")
        }
        return respond(with: file, context)
    }

    private func respond(with file: PageFile, _ context: CallContext) -> HttpBody {
        for (name, value) in Self.fields { context.responseMetadata.append(name: name, value: value) }
        let ranges = context.metadata.values("range")
        // No file has a version to compare, so a condition for the range cannot be true (RFC 9110, section 13.1.5).
        guard ranges.count == 1, context.metadata["if-range"] == nil, let range = ByteRange(ranges[0]) else {
            return HttpBody(contentType: file.contentType, data: file.bytes)
        }
        guard let part = range.resolved(in: Int64(file.bytes.count)) else {
            context.httpStatus = 416
            context.responseMetadata.append(name: "content-range", value: "bytes */\(file.bytes.count)")
            return HttpBody(contentType: file.contentType)
        }
        context.httpStatus = 206
        context.responseMetadata.append(
            name: "content-range", value: "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(file.bytes.count)")
        return HttpBody(
            contentType: file.contentType, data: Array(file.bytes[Int(part.lowerBound)..<Int(part.upperBound)]))
    }
}

/// A static file of the page, from the folder `Assets`; the files are compiled into the program.
struct PageFile: Sendable {
    let contentType: String
    let bytes: [UInt8]

    static let page = PageFile(contentType: "text/html; charset=utf-8", bytes: PackageResources.index_html)

    /// - Parameter name: the path after `/assets/`.
    static func named(_ name: String) -> PageFile? { all[name] }

    private static let all: [String: PageFile] = [
        "archive.css": PageFile(contentType: "text/css; charset=utf-8", bytes: PackageResources.archive_css),
        "archive.js": PageFile(contentType: "text/javascript; charset=utf-8", bytes: PackageResources.archive_js),
        "icon.svg": PageFile(contentType: "image/svg+xml", bytes: PackageResources.icon_svg),
    ]
}
