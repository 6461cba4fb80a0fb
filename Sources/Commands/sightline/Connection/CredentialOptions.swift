internal import ArgumentParser
internal import SightlineClient

/// The credential options. They take files, because other users can see arguments in the process
/// list.
struct CredentialOptions: ParsableArguments {
    @Option(help: "Send the API key in this file.")
    var apiKeyFile: String?

    @Option(help: "Send the token (JWT) in this file; it is read anew for each stream.")
    var tokenFile: String?

    func validate() throws {
        guard self.apiKeyFile == nil || self.tokenFile == nil else {
            throw ValidationError("choose one of --api-key-file and --token-file.")
        }
    }

    /// The client's credential.
    ///
    /// - Throws: `FileReadError` if the file is missing.
    func credential() throws -> ClientCredential? {
        try self.path().map(ClientCredential.init(path:))
    }

    /// The credential's file.
    ///
    /// - Throws: `FileReadError` if it is missing.
    func path() throws -> String? {
        guard let path = self.apiKeyFile ?? self.tokenFile else { return nil }
        try InputFile.check([path])
        return path
    }
}
