// What contradicts itself in the keys of the grpc sink.
internal import GRPCSink

extension GRPCConfiguration {
    /// Refuses what the sink cannot use; for a server that has one.
    static func check(_ values: inout ConfigurationValues) {
        let target = values.text("grpc.target")
        let isLoopback = GRPCTarget(target)?.isLoopback == true
        if target.isEmpty {
            values.refuse("grpc.target", "the grpc sink needs it, as in backend.example.com:443")
        } else if GRPCTarget(target) == nil {
            values.refuse(
                "grpc.target",
                "has to be a host and a port from 1 to 65535, as in example.com:443 or [::1]:443")
        }
        let mode = TLSMode(rawValue: values.text("grpc.tls.mode")) ?? .auto
        let isPlaintext = mode == .plaintext || (mode == .auto && isLoopback)
        if mode == .plaintext, !isLoopback, values.text("grpc.allow_insecure") != "true" {
            values.refuse(
                "grpc.tls.mode",
                "grpc.target is not this machine: anybody on the way could read and change hits; "
                    + "set it to auto or tls, or set grpc.allow_insecure to true")
        }
        for name in ["grpc.tls.roots", "grpc.tls.certificate"]
        where isPlaintext && !values.text(name).isEmpty {
            values.refuse(name, "is for TLS, which is not used: set grpc.tls.mode to tls")
        }
        values.refuseAlone([
            ("grpc.tls.certificate", "grpc.tls.key"), ("grpc.tls.key", "grpc.tls.certificate"),
        ])
        if values.number("grpc.window_bytes") < values.number("grpc.message_bytes") {
            values.refuse(
                "grpc.window_bytes",
                "has to be at least grpc.message_bytes (\(values.number("grpc.message_bytes")))")
        }
    }
}
