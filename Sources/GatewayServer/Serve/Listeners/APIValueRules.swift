import Wire

extension OpenAPIDocument {
    /// The rules for fields of requests that the services check, by full name; a name that begins with a period is that of a field in
    /// any message.
    static let gatewayRules: [String: ValueRule] = [
        ".page_size": .range(0...Int64(Int32.max)),
        ".file_ids": .identifiers("^[0-9A-Za-z._-]{1,128}$", example: "0192f0c1-7a3b-7c4d-8e5f-60718293a4b5"),

        "archebase.auth.v1.ListAuditLineTargetsRequest.line_id": .pattern("^[1-9][0-9]{0,17}$", example: "1"),
        "archebase.auth.v1.CreateApiTokenRequest.expired_at": .required,
        "archebase.auth.v1.CreateApiTokenRequest.role": .oneOf(["viewer", "operator", "admin"]),
        "archebase.auth.v1.CreateApiTokenRequest.token_name": .minimumLength(1),
        "archebase.auth.v1.AcceptInvitationRequest.password": password,
        "archebase.auth.v1.CreateInvitationRequest.role": .oneOf(["viewer", "operator", "admin", "member"]),
        "archebase.auth.v1.CreateInvitationRequest.user_name": name,
        "archebase.auth.v1.CreateOrganizationRequest.organization": name,
        "archebase.auth.v1.CreateOrganizationRequest.bootstrap_admin_user_name": name,
        "archebase.auth.v1.CreateOrganizationRequest.bootstrap_admin_password": password,
        "archebase.auth.v1.CreateUserRequest.password": password,
        "archebase.auth.v1.FindUsersByEmailRequest.email":
            .pattern("^[^@]{1,64}@[^@]{1,255}$", example: "ada@example.com"),
        "archebase.auth.v1.CreateUserRequest.role": role,
        "archebase.auth.v1.CreateUserRequest.user_name": name,
        "archebase.auth.v1.UpdateUserRequest.password": password,
        "archebase.auth.v1.UpdateUserRequest.role": role,

        "archebase.auth.v1.CreateOrRotateDeviceApiKeyRequest.device_id": device,
        "archebase.auth.v1.CreateOrRotateDeviceApiKeyRequest.status": initialStatus,
        "archebase.auth.v1.CreateSiteApiKeyRequest.key_name": .minimumLength(1),
        "archebase.auth.v1.CreateSiteApiKeyRequest.status": initialStatus,
        "archebase.auth.v1.CreateSiteRequest.name": .minimumLength(1),
        "archebase.auth.v1.CreateSiteRequest.status": initialStatus,
        "archebase.auth.v1.SetSignInPolicyRequest.policy": .required,
        "archebase.auth.v1.UpdateApiKeyRequest.key_name": .minimumLength(1),
        "archebase.auth.v1.UpdateApiKeyRequest.status": status,
        "archebase.auth.v1.UpdateOrganizationRequest.display_name": .minimumLength(1),
        "archebase.auth.v1.UpdateSiteRequest.name": .minimumLength(1),
        "archebase.auth.v1.UpdateSiteRequest.silent_after_hours": silentAfter,
        "archebase.auth.v1.UpdateSiteRequest.status": status,

        "archebase.data_gateway.v1.CompleteSiteUploadRequest.completed_part_count": .range(0...Int64(Int32.max)),
        "archebase.data_gateway.v1.CreateCopyJobRequest.destination": .required,
        "archebase.data_gateway.v1.CreateSiteUploadRequest.file_name": .minimumLength(1),
        "archebase.data_gateway.v1.CreateSiteUploadRequest.relative_path":
            .pattern("^([^/]+(/[^/]+)*)?$", example: "run7/front.mp4", mayBeEmpty: true),
        "archebase.data_gateway.v1.DeleteObjectsRequest.filter": .minimumLength(1),
        // Up to 604,800 seconds, the largest value of downloads.max_lifetime_seconds.
        "archebase.data_gateway.v1.RequestDownloadRequest.lifetime_seconds":
            .pattern(
                "^(0|[1-9][0-9]{0,4}|[1-5][0-9]{5}|60[0-3][0-9]{3}|604[0-7][0-9]{2}|604800)$", example: "900",
                mayBeEmpty: true),
        "archebase.data_gateway.v1.RestoreObjectsRequest.filter": .minimumLength(1),
        "archebase.data_gateway.v1.PurgeObjectsRequest.filter": .minimumLength(1),
        "archebase.data_gateway.v1.GetObjectFacetsRequest.facet":
            .pattern("^(device|site|created|raw_tags\\..+)?$", example: "device", mayBeEmpty: true),
        "archebase.data_gateway.v1.GetObjectFacetsRequest.value_limit": .range(0...1000),
        "archebase.data_gateway.v1.GetStatisticsRequest.days": .range(0...400),
        "archebase.data_gateway.v1.GetStorageUseRequest.group_by":
            .pattern(
                "^(organization|site|device|content_type|month|day|raw_tags\\..+)?$", example: "site", mayBeEmpty: true),
        "archebase.data_gateway.v1.GetStorageUseRequest.value_limit": .range(0...1000),
        "archebase.data_gateway.v1.SaveSearchRequest.name": .minimumLength(1),
        "archebase.data_gateway.v1.RetentionRule.filter": .minimumLength(1),
        "archebase.data_gateway.v1.RetentionRule.days": .range(0...36_500),
        "archebase.data_gateway.v1.SetRetentionRequest.days": .range(0...36_500),
        "archebase.data_gateway.v1.SetTrashSettingsRequest.days": .range(0...3650, isRequired: true),
        "archebase.data_gateway.v1.StartEngineCopyRequest.target": .oneOf(["directory", "s3"]),

        "archebase.meta.v1.AddDeviceToSuiteRequest.device": device,
        "archebase.meta.v1.AddDeviceToSuiteRequest.suite": suite,
        "archebase.meta.v1.AllowReinitRequest.name": device,
        "archebase.auth.v1.DeviceEndpoint.host": .minimumLength(1),
        "archebase.auth.v1.DeviceEndpoint.port": .range(1...65_535, isRequired: true),
        "archebase.meta.v1.AnnounceAddressesRequest.auth": .required,
        "archebase.meta.v1.AnnounceAddressesRequest.device_init": .required,
        "archebase.meta.v1.AnnounceAddressesRequest.ends_at": .required,
        "archebase.meta.v1.AnnounceAddressesRequest.gateway": .required,
        "archebase.meta.v1.CreateDeviceSuiteRequest.display_name": .minimumLength(1),
        "archebase.meta.v1.DeleteDeviceRequest.name": device,
        "archebase.meta.v1.DeleteDeviceSuiteRequest.name": suiteNumber,
        "archebase.meta.v1.DisableDeviceRequest.name": device,
        "archebase.meta.v1.RetireDeviceRequest.name": device,
        "archebase.meta.v1.UnretireDeviceRequest.name": device,
        "archebase.meta.v1.EnableDeviceRequest.name": device,
        "archebase.meta.v1.GetDeviceRequest.name": device,
        "archebase.meta.v1.GetDeviceNamesRequest.device_ids":
            .identifiers("^[0-9]{6}-[0-9]{6}$", example: "260427-000001"),
        "archebase.meta.v1.GetDeviceSuiteRequest.name": suiteNumber,
        "archebase.meta.v1.ListDevicesRequest.order_by":
            .pattern(
                "^((device_id|display_name|last_seen_at)( desc)?)?$", example: "last_seen_at desc", mayBeEmpty: true),
        "archebase.meta.v1.ListDevicesRequest.no_upload_for_seconds": silence,
        "archebase.meta.v1.ListDevicesRequest.silent_for_seconds": silence,
        "archebase.meta.v1.ListDevicesRequest.suite": optionalSuite,
        "archebase.meta.v1.RegisterDeviceRequest.device_id":
            .pattern("^([0-9]{6}-[0-9]{6})?$", example: "260427-000001", mayBeEmpty: true),
        "archebase.meta.v1.RegisterDeviceRequest.suite": optionalSuite,
        "archebase.meta.v1.UpdateDeviceSuiteRequest.display_name": .minimumLength(1),
        "archebase.meta.v1.UpdateDeviceSuiteRequest.name": suiteNumber,
        "archebase.meta.v1.UpdateDeviceSuiteRequest.silent_after_hours": silentAfter,
        "archebase.meta.v1.RemoveDeviceFromSuiteRequest.device": device,
        "archebase.meta.v1.RemoveDeviceFromSuiteRequest.suite": suite,
        "archebase.meta.v1.RotateDeviceKeysRequest.devices":
            .identifiers("^devices/[0-9]{6}-[0-9]{6}$", example: "devices/260427-000001"),
        "archebase.meta.v1.RotateDeviceKeysRequest.suite": optionalSuite,
        "archebase.meta.v1.UpdateDeviceRequest.name": device,
        "archebase.meta.v1.UpdateDeviceRequest.silent_after_hours": silentAfter,
    ]

    /// A device in a path, behind `devices/`.
    private static let device = ValueRule.pattern("^[0-9]{6}-[0-9]{6}$", example: "260427-000001")
    /// A suite in a path, behind `deviceSuites/`.
    private static let suiteNumber = ValueRule.pattern("^[1-9][0-9]{0,17}$", example: "1")
    private static let suite = ValueRule.pattern("^deviceSuites/[1-9][0-9]{0,17}$", example: "deviceSuites/1")
    private static let optionalSuite = ValueRule.pattern(
        "^(deviceSuites/[1-9][0-9]{0,17})?$", example: "deviceSuites/1", mayBeEmpty: true)
    /// Below 315,000,000 seconds, about ten years.
    private static let silence = ValueRule.pattern(
        "^(0|[1-9][0-9]{0,7}|[12][0-9]{8}|30[0-9]{7}|31[0-4][0-9]{6})$", example: "259200", mayBeEmpty: true)
    private static let name = ValueRule.pattern("^[0-9A-Za-z][0-9A-Za-z._@+-]{0,63}$", example: "north-plant")
    private static let password = ValueRule.minimumLength(8)
    private static let role = ValueRule.oneOf(["viewer", "operator", "admin", "member", "service"])
    /// 0 and 1 = enabled, 2 = disabled.
    private static let initialStatus = ValueRule.range(0...2)
    private static let status = ValueRule.range(1...2)
    /// Hours; 0 = never, -1 = that of what contains it.
    private static let silentAfter = ValueRule.range(-1...87_600)
}
