import GatewayAPI
import Platform
import RPC

/// Who makes a call, as the database knew it when the call came.
public enum Principal: Sendable, Hashable {
    case device(DevicePrincipal)
    case site(SitePrincipal)
    case user(UserPrincipal)
    /// A program, by the certificate that it showed.
    case certificate(subject: String)
}

extension Principal {
    /// As the audit log and the server's log name it: `device:261121-000001`, `site:7`, `user:system/admin`.
    public var name: String {
        switch self {
        case .device(let device): "device:\(device.deviceID)"
        case .site(let site): "site:\(site.siteID)"
        case .user(let user): user.auditName
        case .certificate(let subject): "certificate:\(subject.prefix(256))"
        }
    }

    public var siteID: Int64? {
        switch self {
        case .device(let device): device.siteID
        case .site(let site): site.siteID
        case .user, .certificate: nil
        }
    }

    /// The organization that the call is about; `nil` = any.
    public var organizationID: Int64? {
        switch self {
        case .device(let device): device.organizationID
        case .site(let site): site.organizationID
        case .user(let user): user.organization.id
        case .certificate: nil
        }
    }
}

extension Principal {
    /// The owner under which the principal's writes wait: a device or site for itself, all users of an organization together.
    var workOwner: WorkOwner {
        switch self {
        case .device(let device): .apiKey(device.key.id)
        case .site(let site): .apiKey(site.key.id)
        case .user(let user): .organization(user.home.id)
        case .certificate(let subject): .other(subject)
        }
    }
}

/// An API key as what is issued to its owner names it: worth nothing once the key's epoch is another.
public struct APIKeyReference: Sendable, Hashable {
    public let id: String
    /// Raised whenever what was issued for the key must stop: disabled, held, rotated.
    public let epoch: Int64

    public init(id: String, epoch: Int64) {
        self.id = id
        self.epoch = epoch
    }
}

/// A device, by its own key.
public struct DevicePrincipal: Sendable, Hashable {
    public let deviceID: String
    public let suiteID: Int64
    public let siteID: Int64
    public let organizationID: Int64
    public let key: APIKeyReference

    public init(deviceID: String, suiteID: Int64, siteID: Int64, organizationID: Int64, key: APIKeyReference) {
        self.deviceID = deviceID
        self.suiteID = suiteID
        self.siteID = siteID
        self.organizationID = organizationID
        self.key = key
    }
}

/// A site, by one of its keys.
public struct SitePrincipal: Sendable, Hashable {
    public let siteID: Int64
    public let organizationID: Int64
    public let key: APIKeyReference

    public init(siteID: Int64, organizationID: Int64, key: APIKeyReference) {
        self.siteID = siteID
        self.organizationID = organizationID
        self.key = key
    }
}

/// An organization as a principal carries it.
public struct OrganizationReference: Sendable, Hashable {
    public let id: Int64
    public let name: String

    public init(id: Int64, name: String) {
        self.id = id
        self.name = name
    }
}

/// A person, by their login.
public struct UserPrincipal: Sendable, Hashable {
    public let userID: Int64
    public let name: String
    public let role: Role
    public let epoch: Int64
    /// Where the user belongs.
    public let home: OrganizationReference
    /// Whether `home` is the SYSTEM organization.
    public let isSystem: Bool
    /// The organization the call is about: `home`, or the one that an admin of SYSTEM named by `x-organization`.
    public var organization: OrganizationReference

    public init(
        userID: Int64, name: String, role: Role, epoch: Int64, home: OrganizationReference, isSystem: Bool,
        organization: OrganizationReference? = nil
    ) {
        self.userID = userID
        self.name = name
        self.role = role
        self.epoch = epoch
        self.home = home
        self.isSystem = isSystem
        self.organization = organization ?? home
    }

    /// As the audit log has it.
    var auditName: String { "user:\(home.name)/\(name)" }

    /// The organization whose objects the user sees; `nil` = every one's, for SYSTEM that named none.
    public var objectScope: Int64? {
        isSystem && organization == home ? nil : organization.id
    }
}

extension CallContext {
    /// Who calls; `nil` where the access table lets anyone in.
    public var principal: Principal? {
        identity as? Principal
    }

    /// The user who calls.
    ///
    /// - Throws: UNAUTHENTICATED where it is not one; the access table has seen to it before.
    public var user: UserPrincipal {
        get throws(RPCError) {
            guard case .user(let user) = principal else { throw RPCError(.unauthenticated, "a user's token is needed") }
            return user
        }
    }

    /// The device or site that calls, by its API key.
    ///
    /// - Throws: UNAUTHENTICATED where it is neither; the access table has seen to it before.
    public var keyOwner: KeyOwner {
        get throws(RPCError) {
            switch principal {
            case .device(let device): return .device(device)
            case .site(let site): return .site(site)
            case .user, .certificate, nil: throw RPCError(.unauthenticated, "an API key's token is needed")
            }
        }
    }
}

/// Whom an API key speaks for.
public enum KeyOwner: Sendable, Hashable {
    case device(DevicePrincipal)
    case site(SitePrincipal)

    public var key: APIKeyReference {
        switch self {
        case .device(let device): device.key
        case .site(let site): site.key
        }
    }

    public var organizationID: Int64 {
        switch self {
        case .device(let device): device.organizationID
        case .site(let site): site.organizationID
        }
    }

    public var siteID: Int64 {
        switch self {
        case .device(let device): device.siteID
        case .site(let site): site.siteID
        }
    }
}
