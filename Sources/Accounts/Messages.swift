package import Basics
import Capability
import GatewayAPI
package import Proto
import RPC

extension Timestamp {
    package init(_ time: UnixTime) {
        let seconds = time.seconds
        self.init(seconds: seconds, nanos: Int32(time.microseconds - seconds * 1_000_000) * 1000)
    }

    /// The time; `nil` if it is not between the years 1 and 9999, the limits of the type's definition.
    package var time: UnixTime? {
        guard (-62_135_596_800...253_402_300_799).contains(seconds), (0...999_999_999).contains(nanos) else {
            return nil
        }
        return UnixTime(microseconds: seconds * 1_000_000 + Int64(nanos) / 1000)
    }
}

extension OrganizationRecord {
    var message: Organization {
        Organization(
            organization: name, displayName: displayName, createdAt: Timestamp(createdAt),
            updatedAt: Timestamp(updatedAt), organizationKind: kind == .system ? .system : .business)
    }
}

extension UserRecord {
    package var message: User {
        User(
            organization: organization.name, userName: name, role: role.rawValue,
            lastLoginAt: lastLoginAt.map { Timestamp($0) }, createdAt: Timestamp(createdAt),
            updatedAt: Timestamp(updatedAt), organizationID: organization.id, userID: id)
    }
}

extension ListedUser {
    var message: User {
        var message = user.message
        message.secondFactor = hasSecondFactor ? .on : lacksSecondFactor ? .missing : .off
        return message
    }
}

extension SiteRecord {
    var message: Site {
        Site(
            siteID: id, name: name, status: Int32(status.rawValue), createdAt: Timestamp(createdAt),
            updatedAt: Timestamp(updatedAt), timeZone: timeZone,
            silentAfterHours: silentAfterHours.map { Int32(clamping: $0) })
    }
}

extension APIKeyRecord {
    var message: ApiKey {
        ApiKey(
            apiKeyID: id, keyName: name, status: Int32(status.rawValue), expiredAt: expiresAt.map { Timestamp($0) },
            lastUsedAt: lastUsedAt.map { Timestamp($0) }, principal: principalMessage)
    }

    var principalMessage: ApiKeyPrincipal {
        switch owner {
        case .site:
            ApiKeyPrincipal(siteID: siteID, apiKeyID: id, keyName: name, ownerKind: .site)
        case .device(let device, let suite):
            ApiKeyPrincipal(
                siteID: siteID, apiKeyID: id, keyName: name, ownerKind: .device, deviceID: device, suiteID: "\(suite)")
        }
    }
}

extension FieldRules {
    static func role(_ text: String) throws(RPCError) -> Role {
        guard let role = Role(rawValue: text) else {
            throw .invalidArgument("role must be admin, operator, viewer, member or service")
        }
        return role
    }

    /// Returns the status for 1 (enabled), 2 (disabled), or 0, which a creation without a status sends: enabled.
    static func status(_ number: Int32) throws(RPCError) -> Availability {
        guard let status = Availability(rawValue: number == 0 ? 1 : Int64(number)) else {
            throw .invalidArgument("status must be 1 (enabled) or 2 (disabled)")
        }
        return status
    }

    /// Returns the status for 1 (enabled) or 2 (disabled); an update has to give it explicitly.
    static func newStatus(_ number: Int32) throws(RPCError) -> Availability {
        guard number != 0 else { throw .invalidArgument("status must be 1 (enabled) or 2 (disabled)") }
        return try status(number)
    }
}
