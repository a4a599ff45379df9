import Basics
package import GatewayFormats

/// A device's record of its gateway's addresses beside the present one: the content of `gateway-address.json`.
struct AddressHistory: Codable, Sendable, Hashable {
    /// The address before an announced one.
    struct Previous: Codable, Sendable, Hashable {
        var endpoints: Endpoints
        /// The file of the authority; `nil` = the one that the device trusts otherwise.
        var authority: String?
    }

    /// The time for which the previous address is kept, in seconds.
    private static let keptSeconds: Int64 = 30 * 86_400
    /// The time of failures at the present address after which the previous one is used again, in seconds.
    private static let failingSeconds: Int64 = 3600
    /// The number of earlier addresses whose confirmed files still count.
    private static let formerKept = 16

    /// The highest serial number of an announcement that was taken; 0 = none.
    var serial: Int64 = 0
    /// Whether an address ever used TLS: a cleartext one is not taken any more.
    var usedTLS = false
    /// Earlier addresses of the same gateway's listener for uploads, `HOST:PORT`, the newest last.
    var former: [String] = []
    /// The file with the announced authority of the present address, in the device's folder; `nil` = none was announced.
    var authority: String?
    /// `nil` before the first move, and when it is not used any more.
    var previous: Previous?
    /// Seconds since 1970, when the present address was taken.
    var movedAt: Int64 = 0
    /// Seconds since 1970, when the present address failed first since it last worked; `nil` = it works.
    var failingSince: Int64?

    /// Records that the device leaves an address for another one of the same gateway.
    mutating func leave(_ endpoints: Endpoints, for next: Endpoints) {
        usedTLS = usedTLS || endpoints.usesTLS || next.usesTLS
        let (old, new) = ("\(endpoints.gateway.address)", "\(next.gateway.address)")
        former = (former.filter { $0 != old && $0 != new } + (old == new ? [] : [old])).suffix(Self.formerKept)
        failingSince = nil
    }

    /// Whether the previous address is to be used again, because the present one has failed for an hour.
    func shouldReturn(at now: UnixTime) -> Bool {
        guard previous != nil, let failingSince, now.seconds - movedAt < Self.keptSeconds else { return false }
        return now.seconds - failingSince >= Self.failingSeconds
    }

    /// Whether the time for which the previous address is kept is over.
    func isPreviousOver(at now: UnixTime) -> Bool { previous != nil && now.seconds - movedAt >= Self.keptSeconds }
}

extension DeviceFolder {
    private var addressHistoryPath: String { path + "/gateway-address.json" }

    func addressHistory() throws(Failure) -> AddressHistory { try read(addressHistoryPath) ?? AddressHistory() }

    func write(_ history: AddressHistory) throws(Failure) { try write(history, to: addressHistoryPath) }

    /// Removes what is known of a gateway that the device leaves for another one.
    func removeAddressHistory() throws(Failure) {
        if try addressHistory() != AddressHistory() { try write(AddressHistory()) }
    }

    /// The path of an announced authority's file.
    func path(ofAuthority name: String) -> String { "\(path)/\(name)" }

    /// Returns the file of the authorities for the certificates at an address: the one that was announced with it, else `standard`.
    package func authorities(for endpoints: Endpoints, else standard: String?) throws(Failure) -> String? {
        guard try self.endpoints() == endpoints, let name = try addressHistory().authority else { return standard }
        return path(ofAuthority: name)
    }

    /// Stores an announced authority.
    ///
    /// - Returns: the file's name.
    func write(authority pem: String, serial: Int64) throws(Failure) -> String {
        let name = "authority-\(serial).pem"
        do throws(PrivateFile.Failure) {
            try PrivateFile.write(Array(pem.utf8), to: path(ofAuthority: name))
        } catch {
            throw Failure("cannot write \(path(ofAuthority: name)): \(error.reason)")
        }
        return name
    }

    /// Stores other endpoints of the same gateway.
    package func move(to endpoints: Endpoints, authority: String? = nil) throws(Failure) {
        var history = try addressHistory()
        history.leave(try self.endpoints() ?? Endpoints(), for: endpoints)
        history.previous = nil
        history.authority = authority
        try write(history)
        try write(endpoints)
    }
}
