import Basics
import FoundationEssentials
package import GatewayFormats
import Glibc
import HTTPClient

/// The folder with a device's persistent data: key, endpoints and the journals of uploads.
package struct DeviceFolder: Sendable {
    /// The reason why a file of the folder cannot be used, as a sentence without a full stop.
    package struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
        package let message: String

        package var description: String { message }
        /// Whether another process uses the file.
        package let isOfAnotherProcess: Bool

        init(_ message: String, isOfAnotherProcess: Bool = false) {
            self.message = message
            self.isOfAnotherProcess = isOfAnotherProcess
        }
    }

    /// The largest size of a configuration, in bytes; 256 tags of the largest length fit.
    private static let maximumBytes = 4 << 20
    /// The space for a key with its tags in three files, in bytes.
    private static let reservedBytes = 256 << 10

    package let path: String

    package init(_ path: String) { self.path = path }

    package var configurationPath: String { path + "/archebase-config.json" }
    package var endpointsPath: String { path + "/archebase-endpoints.json" }
    /// The device id of the latest init; an SDK does not write it.
    package var deviceIDPath: String { path + "/device-id" }
    /// One journal for each upload in progress.
    package var uploadsPath: String { path + "/uploads" }
    /// The record of the files that the gateway confirmed.
    package var deliveredPath: String { path + "/delivered.jsonl" }
    /// A new key with its device and endpoints, until they are in their files.
    private var adoptionPath: String { path + "/init.json" }
    /// A file that holds space for a key until it is received.
    private var reservePath: String { path + "/init.space" }
    /// The folder for standard input until it is uploaded.
    package var spoolPath: String { path + "/spool" }

    /// A device's key with what belongs to it.
    struct Identity: Codable, Sendable {
        let deviceID: String
        let configuration: DeviceConfiguration
        let endpoints: Endpoints
    }

    /// Returns the key and tags; `nil` if the device was never initialized in this folder.
    package func configuration() throws(Failure) -> DeviceConfiguration? {
        try finishAdoption()
        return try read(configurationPath)
    }

    /// Returns the key and tags of an initialized device; throws if it is not initialized.
    package func initializedConfiguration() throws(Failure) -> DeviceConfiguration {
        guard let configuration = try configuration() else {
            throw Failure("this device has no key yet (\(configurationPath)): run data-gateway init DEVICE_ID")
        }
        return configuration
    }

    /// Returns the gateway's endpoints; `nil` if they were never stored.
    package func endpoints() throws(Failure) -> Endpoints? {
        try finishAdoption()
        guard let endpoints: Endpoints = try read(endpointsPath) else { return nil }
        for endpoint in [endpoints.auth, endpoints.gateway, endpoints.deviceInit] {
            guard !endpoint.host.isEmpty, (1...65_535).contains(endpoint.port) else {
                throw Failure("\(endpointsPath): \(endpoint) is not a valid endpoint")
            }
        }
        return endpoints
    }

    /// The device id of the latest init; empty if an SDK initialized the folder.
    package func deviceID() throws(Failure) -> String {
        try finishAdoption()
        do throws(FileReader.Failure) {
            let bytes = try FileReader(deviceIDPath).contents(limit: 256)
            return String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
        } catch {
            if error.isMissing { return "" }
            throw Failure("cannot read \(deviceIDPath): \(error.reason)")
        }
    }

    /// Writes a file with space for a key.
    func reserve() throws(Failure) {
        do {
            try PrivateFile.makeFolders(path)
            try PrivateFile.write([UInt8](repeating: 0x20, count: Self.reservedBytes), to: reservePath)
        } catch {
            throw Failure("cannot write \(reservePath): \(error)")
        }
    }

    func releaseReserve() { unlink(reservePath) }

    /// Replaces the key, the device id and the endpoints. After a crash or a power loss, all of them are as before, or all are new.
    func adopt(_ identity: Identity) throws(Failure) {
        try write(identity, to: adoptionPath)
        try finishAdoption()
    }

    /// Brings a received key into the files of the SDKs, after an `adopt` that did not finish.
    private func finishAdoption() throws(Failure) {
        guard let identity: Identity = try read(adoptionPath) else { return }
        try removeStoredRotation()
        if try read(endpointsPath) != identity.endpoints { try removeAddressHistory() }
        // Before the key: with the key of another device, nothing of the former one may count as delivered.
        try write(deviceID: identity.deviceID)
        try write(identity.configuration)
        try write(identity.endpoints)
        guard unlink(adoptionPath) == 0 || errno == ENOENT else {
            throw Failure("cannot remove \(adoptionPath): \(String(cString: strerror(errno)))")
        }
    }

    package func write(deviceID: String) throws(Failure) {
        do throws(PrivateFile.Failure) {
            try PrivateFile.write(Array("\(deviceID)\n".utf8), to: deviceIDPath)
        } catch {
            throw Failure("cannot write \(deviceIDPath): \(error.reason)")
        }
    }

    package func write(_ configuration: DeviceConfiguration) throws(Failure) {
        try write(configuration, to: configurationPath)
    }

    package func write(_ endpoints: Endpoints) throws(Failure) {
        try write(endpoints, to: endpointsPath)
    }

    /// Creates the folder of the journals if it is missing.
    func makeUploads() throws(Failure) {
        do {
            try PrivateFile.makeFolder(uploadsPath)
        } catch {
            throw Failure("cannot create \(uploadsPath): \(error.reason)")
        }
    }

    func read<Content: Decodable>(_ file: String) throws(Failure) -> Content? {
        let bytes: [UInt8]
        do throws(FileReader.Failure) {
            bytes = try FileReader(file).contents(limit: Self.maximumBytes)
        } catch {
            if error.isMissing { return nil }
            throw Failure("cannot read \(file): \(error.reason)")
        }
        do {
            return try JSONDecoder().decode(Content.self, from: Data(bytes))
        } catch let error as DecodingError {
            throw Failure("\(file): \(error.place)")
        } catch {
            throw Failure("\(file) is not valid JSON")
        }
    }

    /// The format of the files.
    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// Replaces the file atomically, so that neither a crash nor a power loss leaves a partial file; mode 0600.
    func write(_ content: some Encodable, to file: String) throws(Failure) {
        do {
            try PrivateFile.makeFolders(path)
            try PrivateFile.write(Array(try Self.encoder.encode(content)) + [0x0A], to: file)
        } catch {
            throw Failure("cannot write \(file): \(error)")
        }
    }
}

extension DecodingError {
    /// The wrong member and the reason.
    fileprivate var place: String {
        let (context, key): (Context, (any CodingKey)?) =
            switch self {
            case .keyNotFound(let key, let context): (context, key)
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
                (context, nil)
            @unknown default: (Context(codingPath: [], debugDescription: "the value cannot be decoded"), nil)
            }
        let path = (context.codingPath + (key.map { [$0] } ?? [])).map(\.stringValue).joined(separator: ".")
        if path.isEmpty { return "the file is not a JSON object of the expected form" }
        return key == nil ? "the member \(path) has an invalid value" : "the member \(path) is missing"
    }
}

/// The result of InitDevice: the content of `archebase-config.json`, in the format of the SDKs.
package struct DeviceConfiguration: Codable, Sendable, Hashable {
    /// The device's credential, for ExchangeCredential.
    package var apiKey: String
    /// The tags of everything that the device uploads.
    package var tags: [String: String]

    package init(apiKey: String, tags: [String: String]) {
        self.apiKey = apiKey
        self.tags = tags
    }

    enum CodingKeys: String, CodingKey {
        case apiKey = "api_key"
        case tags
    }
}
