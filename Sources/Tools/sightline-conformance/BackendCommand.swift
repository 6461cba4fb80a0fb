// `sightline-conformance backend`: whether a backend keeps to the protocol of the grpc sink.
internal import ArgumentParser
internal import BackendConformance
internal import GRPCSink

/// Tries a backend of the grpc sink.
struct BackendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backend",
        abstract: "Try whether a backend keeps to the protocol of the grpc sink.",
        discussion: """
            Delivers some thousand hits of the tenant sightline-check, of journals that are made \
            up: give it a backend whose data can be thrown away. It breaks streams off, sends hits \
            that may be refused, sends again, sends fast, and says in a sentence what is wrong.
            Exit 0: nothing is wrong. 1: something is. 69: no backend answers. 74: the output \
            cannot be written.
            """)

    @Option(help: "The backend, HOST:PORT.")
    var target: String

    @Flag(help: "Connect by TLS, and trust the system's authorities.")
    var tls = false

    @Option(help: "Connect by TLS, and trust the authorities in this PEM file.")
    var tlsRoots: String?

    @Option(help: "Show the certificate in this PEM file to the backend.")
    var clientCertificate: String?

    @Option(help: "Its key, a PEM file.")
    var clientKey: String?

    @Option(help: "Send the API key in this file.")
    var apiKeyFile: String?

    @Option(help: "Send the token (JWT) in this file; it is read anew for each stream.")
    var tokenFile: String?

    func validate() throws {
        guard GRPCTarget(self.target) != nil else {
            throw ValidationError("--target: has to be HOST:PORT")
        }
        guard (self.clientCertificate == nil) == (self.clientKey == nil) else {
            throw ValidationError("--client-certificate and --client-key come together.")
        }
        if self.clientKey != nil, !self.isEncrypted {
            throw ValidationError("--client-certificate needs --tls or --tls-roots.")
        }
        guard self.apiKeyFile == nil || self.tokenFile == nil else {
            throw ValidationError("choose one of --api-key-file and --token-file.")
        }
    }

    private var isEncrypted: Bool { self.tls || self.tlsRoots != nil }

    func run() async throws {
        let check: BackendCheck
        do {
            check = try BackendCheck(self.sink)
        } catch {
            throw Terminal.fail(error, .noInput)
        }
        do {
            let isRight = try await check.run(Self.show)
            if !isRight { throw ExitCode.failure }
        } catch let absence as BackendAbsence {
            throw Terminal.fail(absence, .unavailable)
        }
    }

    private var sink: GRPCConfiguration {
        var sink = GRPCConfiguration()
        sink.target = self.target
        sink.tlsMode = self.isEncrypted ? .tls : .plaintext
        sink.tlsRoots = self.tlsRoots ?? ""
        sink.tlsCertificate = self.clientCertificate ?? ""
        sink.tlsKey = self.clientKey ?? ""
        sink.keyFile = self.apiKeyFile ?? self.tokenFile ?? ""
        return sink
    }

    private static func show(_ outcome: BackendCheck.Outcome) throws {
        if let fault = outcome.fault {
            try Terminal.out(
                Terminal.coloured("WRONG  \(outcome.name)", .red) + "\n       \(fault)")
        } else {
            try Terminal.out(Terminal.coloured("ok", .green) + "     \(outcome.name)")
        }
        if let remark = outcome.remark { try Terminal.out("       \(remark)") }
    }
}
