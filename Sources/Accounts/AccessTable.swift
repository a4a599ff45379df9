/// The callers that a method admits.
package enum Access: Sendable, Hashable {
    /// Without any token.
    case anyone
    /// By a device's or a site's API-key token.
    case apiKey
    /// By a user's token, with at least this role in the organization the call is about.
    case user(Role)
    /// By an admin or a service account of the SYSTEM organization.
    case systemAdmin
    /// By the same, or by a program whose certificate the listener's authorities signed.
    case systemAdminOrCertificate
}

/// The one place that says which RPC is open to whom. What is not in it is closed to everybody.
package enum AccessTable {
    /// - Parameter path: an HTTP/2 `:path`, e.g. `/archebase.auth.v1.AuthService/Login`.
    package static func access(to path: String) -> Access? {
        table[path]
    }

    /// Whether calls of a method leave no line in the audit log.
    ///
    /// - Parameter method: its name without the service's.
    static func onlyReads(_ method: String) -> Bool {
        method.hasPrefix("Get") || method.hasPrefix("List")
    }

    private static let table: [String: Access] = {
        var table: [String: Access] = [:]
        for (service, access, methods) in rows {
            for method in methods { table["/\(service)/\(method)"] = access }
        }
        return table
    }()

    private static let rows: [(service: String, access: Access, methods: [String])] = [
        ("grpc.health.v1.Health", .anyone, ["Check", "List", "Watch"]),
        ("grpc.reflection.v1.ServerReflection", .anyone, ["ServerReflectionInfo"]),
        ("grpc.reflection.v1alpha.ServerReflection", .anyone, ["ServerReflectionInfo"]),

        ("archebase.auth.v1.AuthService", .anyone, ["ExchangeCredential", "Login", "RefreshToken"]),
        ("archebase.auth.v1.SystemAuthService", .anyone, ["ExchangeSystemCredential"]),
        ("archebase.session.v1.SessionService", .anyone, ["Logout"]),

        (
            "archebase.auth.v1.AdminAuthService", .user(.admin),
            ["CreateSite", "EnableSite", "DisableSite", "UpdateSite", "DeleteSite"]
        ),
        (
            "archebase.auth.v1.AdminAuthService", .user(.operator),
            [
                "GetSite", "ListSites", "CreateSiteApiKey", "CreateOrRotateDeviceApiKey", "GetApiKey", "ListApiKeys",
                "UpdateApiKey", "EnableApiKey", "DisableApiKey", "RotateApiKeySecret", "DeleteApiKey",
            ]
        ),
        (
            "archebase.auth.v1.AdminAuthService", .systemAdmin,
            [
                "CreateOrganization", "GetOrganization", "ListOrganizations", "UpdateOrganization",
                "DeleteOrganization",
            ]
        ),
        (
            "archebase.auth.v1.UserAuthService", .user(.admin),
            ["CreateUser", "GetUser", "ListUsers", "UpdateUser", "DeleteUser"]
        ),
        (
            "archebase.auth.v1.IdentityManagementService", .systemAdmin,
            ["IssueSystemCredential", "RotateSigningKey"]
        ),
        ("archebase.auth.v1.AuditService", .user(.admin), ["ListAuditLines"]),

        ("archebase.data_gateway.v1.DeviceInitService", .anyone, ["InitDevice", "ReinitDevice"]),
        (
            "archebase.meta.v1.DeviceManagementService", .user(.operator),
            [
                "CreateDeviceSuite", "GetDeviceSuite", "ListDeviceSuites", "DeleteDeviceSuite", "RegisterDevice",
                "GetDevice", "ListDevices", "UpdateDevice", "EnableDevice", "DisableDevice", "AddDeviceToSuite",
                "RemoveDeviceFromSuite", "DeleteDevice", "AllowReinit",
            ]
        ),

        (
            "archebase.data_gateway.v1.DataGatewayService", .apiKey,
            ["CreateLogicalUpload", "GetUploadRecovery", "ReissueUploadCredentials", "AbortUpload", "CompleteUpload"]
        ),
        ("archebase.data_gateway.v1.DataGatewayObjectService", .user(.viewer), ["ListObjects", "RequestDownload"]),
        ("archebase.data_gateway.v1.DataGatewayCopyService", .user(.viewer), ["GetCopyJob", "ListCopyJobItems"]),
        ("archebase.data_gateway.v1.DataGatewayCopyService", .user(.operator), ["CreateCopyJob", "CancelCopyJob"]),
        (
            "archebase.data_gateway.v1.ObjectManagementService", .user(.admin),
            ["DeleteObject", "SetRetention", "GetRetention", "ListBadObjects"]
        ),
        ("archebase.events.v1.EventService", .user(.admin), ["ListDeadLetters", "RedeliverEvent"]),
        ("archebase.data_gateway.v1.ObjectManagementService", .user(.viewer), ["GetObject", "GetStatistics"]),
        ("archebase.data_gateway.v1.UploadManagementService", .user(.viewer), ["ListUploads"]),
        ("archebase.data_gateway.v1.BackupService", .systemAdmin, ["Backup"]),
        ("archebase.data_gateway.v1.ClockService", .systemAdmin, ["GetClock", "ConfirmClock"]),
        (
            "archebase.data_gateway.v1.InternalStorageService", .systemAdminOrCertificate,
            ["PresignObject", "ReadObject"]
        ),
    ]
}
