import Accounts
import Basics
import Crypto
import GatewayAPI
import HTTPTypes
import Proto
import RPC

/// The rules for announcements of addresses.
enum AddressRules {
    /// The largest size of the certificates, in bytes: they come with every token until a device has taken them.
    private static let maximumAuthority = 32 << 10
    /// The longest time from the announcement to its end.
    private static let longest = Duration.seconds(400 * 86_400)

    /// Returns the announcement of a valid request, without a serial number.
    static func announcement(
        _ request: AnnounceAddressesRequest, at now: UnixTime
    ) throws(RPCError) -> AddressAnnouncement {
        let auth = try endpoint(request.auth, "auth")
        let gateway = try endpoint(request.gateway, "gateway")
        let deviceInit = try endpoint(request.deviceInit, "device_init")
        try authority(request.authority)
        guard let end = request.endsAt?.time else {
            throw .invalidArgument(
                "ends_at must be set: the time from which devices do not take the addresses any more")
        }
        guard end > now, end <= now.adding(longest) else {
            throw .invalidArgument("ends_at must be in the future, at most 400 days from now")
        }
        return AddressAnnouncement(
            auth: auth, gateway: gateway, deviceInit: deviceInit, authority: request.authority,
            endsAtUnix: end.seconds)
    }

    private static func endpoint(_ endpoint: DeviceEndpoint?, _ field: String) throws(RPCError) -> DeviceEndpoint {
        guard let endpoint else { throw .invalidArgument("\(field) must be set") }
        guard PeerAddress.isHost(endpoint.host) else {
            throw .invalidArgument("\(field).host must be a host name or an IP address without brackets")
        }
        guard (1...65_535).contains(endpoint.port) else {
            throw .invalidArgument("\(field).port must be 1 to 65535")
        }
        return endpoint
    }

    private static func authority(_ text: String) throws(RPCError) {
        guard !text.isEmpty else { return }
        guard text.utf8.count <= maximumAuthority else {
            throw .invalidArgument("authority must not be larger than \(maximumAuthority) bytes")
        }
        guard let count = CertificateText.count(in: text), count > 0 else {
            throw .invalidArgument("authority must contain certificates in the PEM format, and nothing else")
        }
    }
}

extension AddressAnnouncements.State {
    var message: AnnouncedAddresses {
        AnnouncedAddresses(
            announcement: announcement, announcedAt: announcedAt.map { Timestamp($0) }, devices: counts.devices,
            taken: counts.taken, unaware: counts.unaware)
    }
}
