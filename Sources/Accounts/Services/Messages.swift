package import Basics
import Capability
package import Proto

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

extension SiteRecord {
    var message: Site {
        Site(
            siteID: id, name: name, status: Int32(status.rawValue), createdAt: Timestamp(createdAt),
            updatedAt: Timestamp(updatedAt))
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
