package import ConfigurationKeys
internal import Foundation

/// The resource attributes that all spans of the process share.
package struct TraceResource: KeyedConfiguration {
    /// The attribute service.name.
    package var serviceName = "sightline"
    /// The attribute service.version; empty if unknown.
    package var serviceVersion = ""
    /// The operator's attributes, which take precedence over detected ones.
    package var configured: [(name: String, value: String)] = []

    /// Creates the default resource.
    package init() {}

    /// Keys in the section `telemetry`.
    package static let keys: [Key] = [
        .text("telemetry.service_name", \.serviceName, "the service's name in spans"),
        .parsed(
            "telemetry.resource_attributes", \.configured,
            "further attributes of the service in spans, as in name=value,name=value",
            rule: NameValueList.rule, NameValueList.read),
    ]

    /// The version of the semantic conventions for names.
    static let schemaURL = "https://opentelemetry.io/schemas/1.45.0"
    /// Identifies this run of the process.
    private static let instanceID = UUID().uuidString.lowercased()

    /// All attributes by name. `service.name` is always the configured one, even if the operator's
    /// attributes contain it (OpenTelemetry's SDK environment variables).
    var attributes: [String: String] {
        var attributes = [
            "service.instance.id": Self.instanceID,
            "telemetry.sdk.name": "sightline",
            "telemetry.sdk.language": "swift",
            "host.name": ProcessInfo.processInfo.hostName,
            "process.pid": "\(ProcessInfo.processInfo.processIdentifier)",
        ]
        if !self.serviceVersion.isEmpty {
            attributes["service.version"] = self.serviceVersion
            attributes["telemetry.sdk.version"] = self.serviceVersion
        }
        for (name, value) in self.configured { attributes[name] = value }
        attributes["service.name"] = self.serviceName
        return attributes
    }
}
