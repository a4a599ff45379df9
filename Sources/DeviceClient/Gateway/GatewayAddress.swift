import Basics
import Crypto
import EventLoops
import GatewayFormats
import Proto
import Sockets
import Wire

/// The present address of a device's gateway, with connections to it. Announcements change it, and failures undo that. The device's
/// key is exchanged there, and replaced if the gateway requests it.
actor GatewayAddress {
    /// A place, as it was when it was asked for.
    struct Place: Sendable {
        let endpoints: Endpoints
        let auth: GatewayChannel
        let gateway: GatewayChannel
        /// PEM, for the object store, too; `nil` = the system's trusted authorities.
        let authorities: String?
    }

    private let folder: DeviceFolder
    /// The authorities that the device trusts otherwise.
    private let authorities: String?
    private let clock: any WallClock
    private let loop = EventLoop(name: "device")
    private let notice: @Sendable (String) -> Void
    private let keyNotice: @Sendable (String) -> Void
    private let key: DeviceKey
    private var isRotationFailureKnown = false
    private var history: AddressHistory
    private(set) var place: Place

    /// - Parameters:
    ///   - notice: receives a sentence without a full stop about each change of the address.
    ///   - keyNotice: receives one about a replacement of the key.
    /// - Throws: `DeviceFolder.Failure`, `TLSError` for unusable authorities.
    init(
        _ folder: DeviceFolder, authorities: String?, clock: any WallClock,
        notice: @escaping @Sendable (String) -> Void, keyNotice: @escaping @Sendable (String) -> Void
    ) throws {
        self.folder = folder
        self.authorities = authorities
        self.clock = clock
        self.notice = notice
        self.keyNotice = keyNotice
        key = try DeviceKey(folder)
        history = try folder.addressHistory()
        let endpoints = try folder.endpoints() ?? Endpoints()
        place = try Self.place(endpoints, try folder.authorities(for: endpoints, else: authorities), loop)
    }

    private static func place(_ endpoints: Endpoints, _ authorities: String?, _ loop: EventLoop) throws -> Place {
        let trusted = try endpoints.authorities(authorities)
        return Place(
            endpoints: endpoints, auth: GatewayChannel(to: endpoints.auth, authorities: trusted, loop: loop),
            gateway: GatewayChannel(to: endpoints.gateway, authorities: trusted, loop: loop),
            authorities: authorities)
    }

    /// Exchanges the device's key for a token, takes an address that is announced with it, and replaces the key if the gateway
    /// requests it. Without either, uploads continue.
    func exchange() async throws -> ExchangeCredentialResponse {
        var reply = try await exchangeKey()
        if !reply.addressAnnouncement.isEmpty, await takes(reply, await key.credential) {
            // Signs in at the new address, so that the gateway counts the device among those that moved.
            reply = (try? await exchangeKey()) ?? reply
        }
        return reply.rotateCredential ? await rotated() ?? reply : reply
    }

    private func exchangeKey() async throws -> ExchangeCredentialResponse {
        try await key.trying { try await self.exchangeOnce($0) }
    }

    /// Replaces the key. A failure is reported once.
    ///
    /// - Returns: the reply to the exchange of the new key; `nil` if it is to be replaced with a later token.
    private func rotated() async -> ExchangeCredentialResponse? {
        do {
            let reply = try await KeyReplacement(folder, key).run { present in
                try await self.trying { place in
                    try await AuthServiceClient(place.auth).rotateCredential(
                        RotateCredentialRequest(credential: present)
                    ).credential
                }
            } exchange: { next in
                try await self.exchangeOnce(next)
            }
            isRotationFailureKnown = false
            if reply != nil { keyNotice("the device's key was replaced, as an operator requested") }
            return reply
        } catch {
            if !isRotationFailureKnown { keyNotice("the device's key is not replaced yet: \(error)") }
            isRotationFailureKnown = true
            return nil
        }
    }

    private func exchangeOnce(_ credential: String) async throws -> ExchangeCredentialResponse {
        try await trying { [history] place in
            try await AuthServiceClient(place.auth).exchangeCredential(
                ExchangeCredentialRequest(credential: credential, addressSerial: history.serial))
        }
    }

    /// Makes a call at the present address. If that has failed for an hour, and the call succeeds at the previous address, the
    /// device returns to it.
    func trying<Result: Sendable>(_ call: @Sendable (Place) async throws -> Result) async throws -> Result {
        let used = place
        do {
            let result = try await call(used)
            worked(at: used)
            return result
        } catch let failure as CallFailure where failure.isOfConnection {
            guard let previous = failed(at: used), let result = try? await call(previous) else { throw failure }
            returned(to: previous, from: used)
            return result
        } catch {
            if error is CallFailure { worked(at: used) }
            throw error
        }
    }

    private func worked(at used: Place) {
        guard used.endpoints == place.endpoints else { return }
        let isOver = history.isPreviousOver(at: clock.now())
        guard history.failingSince != nil || isOver else { return }
        history.failingSince = nil
        if isOver { history.previous = nil }
        // If it cannot be stored now, the next success stores it.
        try? folder.write(history)
    }

    /// Records a failure.
    ///
    /// - Returns: the previous address, if it is to be tried.
    private func failed(at used: Place) -> Place? {
        guard used.endpoints == place.endpoints, let previous = history.previous else { return nil }
        let now = clock.now()
        // A clock that was set back begins a new hour.
        if history.failingSince.map({ $0 > now.seconds }) ?? true {
            history.failingSince = now.seconds
            try? folder.write(history)
        }
        guard history.shouldReturn(at: now) else { return nil }
        return try? Self.place(
            previous.endpoints, previous.authority.map(folder.path(ofAuthority:)) ?? authorities, loop)
    }

    private func returned(to previous: Place, from used: Place) {
        guard place.endpoints == used.endpoints, history.previous?.endpoints == previous.endpoints else { return }
        var returned = history
        returned.leave(used.endpoints, for: previous.endpoints)
        returned.authority = history.previous?.authority
        returned.previous = nil
        do {
            try folder.write(returned)
            try folder.write(previous.endpoints)
        } catch {
            return notice("the previous address of the gateway cannot be stored: \(error)")
        }
        (history, place) = (returned, previous)
        notice(
            "\(used.endpoints.gateway) failed for an hour: the gateway's address is \(previous.endpoints.gateway) again"
        )
    }

    /// Takes an announced address if it is genuine and new, and the gateway is there.
    ///
    /// - Returns: whether the address is the device's now.
    private func takes(_ reply: ExchangeCredentialResponse, _ credential: String) async -> Bool {
        do {
            let announced = try AnnouncedAddress(
                reply, credential: credential, history: history, from: place.endpoints, at: clock.now())
            return try await take(announced, token: reply.accessToken)
        } catch let refusal as AnnouncedAddress.Refusal {
            notice("an announced address of the gateway is not used: \(refusal.reason)")
        } catch {
            notice("an announced address of the gateway is not used yet: \(error)")
        }
        return false
    }

    private func take(_ announced: AnnouncedAddress, token: String) async throws -> Bool {
        let present = place.endpoints
        let name =
            announced.authority.isEmpty
            ? nil : try folder.write(authority: announced.authority, serial: announced.serial)
        let next = try Self.place(announced.endpoints, name.map(folder.path(ofAuthority:)) ?? authorities, loop)
        try await AddressProof(
            announced.endpoints, authorities: try announced.endpoints.authorities(next.authorities), loop: loop
        ).run(token: token)
        // Calls went on meanwhile, and the place may be another.
        guard place.endpoints == present, history.serial < announced.serial else { return false }
        var moved = history
        moved.leave(present, for: announced.endpoints)
        // From TLS a device does not return to cleartext.
        let mayReturn = present != announced.endpoints && announced.endpoints.withoutTLS(in: present) == nil
        moved.previous = mayReturn ? .init(endpoints: present, authority: history.authority) : nil
        moved.authority = name
        moved.movedAt = clock.now().seconds
        // The serial number last: a device that stops in between takes the announcement once more.
        try folder.write(moved)
        try folder.write(announced.endpoints)
        moved.serial = announced.serial
        try folder.write(moved)
        (history, place) = (moved, next)
        notice(
            "the gateway's address is \(announced.endpoints.gateway) now, as was announced (number \(announced.serial))"
        )
        return true
    }
}

/// An announcement of addresses that a device may take.
struct AnnouncedAddress: Sendable {
    /// The reason why a device never takes an announcement.
    struct Refusal: Error, Hashable {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    let serial: Int64
    let endpoints: Endpoints
    /// PEM; empty = the authorities that the device trusts.
    let authority: String

    /// - Parameter present: the device's endpoints.
    /// - Throws: `Refusal`.
    init(
        _ reply: ExchangeCredentialResponse, credential: String, history: AddressHistory, from present: Endpoints,
        at now: UnixTime
    ) throws(Refusal) {
        let mac = DeviceMAC.addressAnnouncement(reply.addressAnnouncement, credential: credential)
        guard constantTimeEqual(mac, reply.addressAnnouncementMac) else {
            throw Refusal("its MAC is not that of the device's key")
        }
        guard let message = try? AddressAnnouncement(decoding: reply.addressAnnouncement),
            let auth = message.auth.flatMap(Endpoints.Endpoint.init),
            let gateway = message.gateway.flatMap(Endpoints.Endpoint.init),
            let deviceInit = message.deviceInit.flatMap(Endpoints.Endpoint.init)
        else { throw Refusal("it cannot be read") }
        guard message.serial > history.serial else {
            throw Refusal("its number is \(message.serial), and number \(history.serial) was taken")
        }
        guard message.endsAtUnix > now.seconds else { throw Refusal("it has ended") }
        endpoints = Endpoints(auth: auth, gateway: gateway, deviceInit: deviceInit)
        if history.usedTLS || present.usesTLS, let cleartext = endpoints.cleartext {
            throw Refusal("\(cleartext) has no TLS, which the device has used")
        }
        serial = message.serial
        authority = message.authority
    }
}

extension Endpoints.Endpoint {
    fileprivate init?(_ endpoint: DeviceEndpoint) {
        guard !endpoint.host.isEmpty, (1...65_535).contains(endpoint.port) else { return nil }
        self.init(scheme: endpoint.tls ? .https : .http, host: endpoint.host, port: Int(endpoint.port))
    }
}
