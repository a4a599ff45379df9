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
