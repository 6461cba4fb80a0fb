// What all spans of a process have in common.
internal import Foundation

/// The attributes of the resource that spans tell of.
package struct TraceResource: Sendable {
    /// service.name. Default `sightline`.
    package var serviceName = "sightline"
    /// service.version; empty where it is not known.
    package var serviceVersion = ""
    /// Attributes of the operator's own, which come before what the process knows of itself.
    package var configured: [(name: String, value: String)] = []

    /// Every value at its default.
    package init() {}

    /// The semantic conventions that names follow.
    static let schemaURL = "https://opentelemetry.io/schemas/1.44.0"
    /// One process, from its start to its end.
    private static let instanceID = UUID().uuidString.lowercased()

    /// All attributes by name: the name of the service is the configured one, whatever the
    /// operator's own attributes say of it (OpenTelemetry's SDK environment variables).
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
