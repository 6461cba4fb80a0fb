// `sightline sinks check`: checks whether a backend keeps to the protocol of the grpc sink.
internal import ArgumentParser
internal import GRPCSink
internal import SightlineClient

/// Checks a backend of the grpc sink.
struct SinkCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Try whether a backend keeps to the protocol of the grpc sink.",
        discussion: """
            Delivers some thousand hits of the tenant sightline-check, of journals that are made \
            up: give it a backend whose data can be thrown away. It breaks streams off, sends hits \
            that may be refused, sends again, sends fast, and says in a sentence what is wrong.
            Exit 0: nothing is wrong. 1: something is. 69: no backend answers.
            """)

    @Option(help: "The backend, HOST:PORT.")
    var target: String

    @OptionGroup(title: "Security") var security: ClientSecurityOptions

    @OptionGroup(title: "Credentials") var credentials: CredentialOptions

    func run() async throws {
        let check: BackendCheck
        do {
            check = try BackendCheck(try self.sink())
        } catch {
            throw Console.fail(error, .noInput)
        }
        do {
            let isRight = try await check.run(Self.show)
            if !isRight { throw ExitCode.failure }
        } catch let absence as BackendAbsence {
            throw Console.fail(absence, .unavailable)
        }
    }

    private func sink() throws -> GRPCConfiguration {
        guard GRPCTarget(self.target) != nil else {
            throw ValidationError("--target: has to be HOST:PORT")
        }
        let security = try self.security.security()
        var sink = GRPCConfiguration()
        sink.target = self.target
        sink.tlsMode = security.isEncrypted ? .tls : .plaintext
        sink.tlsRoots = security.rootsPath ?? ""
        sink.tlsCertificate = security.certificatePath ?? ""
        sink.tlsKey = security.keyPath ?? ""
        sink.keyFile = try self.credentials.path() ?? ""
        return sink
    }

    private static func show(_ outcome: BackendCheck.Outcome) {
        if let fault = outcome.fault {
            Console.out(Console.coloured("WRONG  \(outcome.name)", .red) + "\n       \(fault)")
        } else {
            Console.out(Console.coloured("ok", .green) + "     \(outcome.name)")
        }
        if let remark = outcome.remark { Console.out("       \(remark)") }
    }
}
