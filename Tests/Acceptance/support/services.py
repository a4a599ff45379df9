"""The services of the gateway, and the listener that serves each."""

LISTENERS = {
    "archebase.auth.v1.AuthService": "auth",
    "archebase.auth.v1.SystemAuthService": "auth",
    "archebase.session.v1.SessionService": "auth",
    "archebase.data_gateway.v1.DataGatewayService": "gateway",
    "archebase.data_gateway.v1.DataGatewayObjectService": "gateway",
    "archebase.data_gateway.v1.DataGatewayCopyService": "gateway",
    "archebase.auth.v1.AdminAuthService": "admin",
    "archebase.auth.v1.UserAuthService": "admin",
    "archebase.auth.v1.IdentityManagementService": "admin",
    "archebase.auth.v1.AuditService": "admin",
    "archebase.meta.v1.DeviceManagementService": "admin",
    "archebase.data_gateway.v1.ObjectManagementService": "admin",
    "archebase.data_gateway.v1.UploadManagementService": "admin",
    "archebase.data_gateway.v1.BackupService": "admin",
    "archebase.data_gateway.v1.ClockService": "admin",
    "archebase.events.v1.EventService": "admin",
    "archebase.data_gateway.v1.DeviceInitService": "device-init",
    "archebase.data_gateway.v1.InternalStorageService": "internal",
}
