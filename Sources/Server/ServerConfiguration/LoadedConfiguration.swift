// What the sources gave: every key's value and place, and the configuration or its problems.
package import ConfigurationKeys
internal import Credentials

/// A configuration with where it comes from.
package struct LoadedConfiguration: Sendable {
    /// Every key, in the order of the documentation.
    package let settings: [ConfigurationSetting]
    /// The configuration, or everything that is wrong with it.
    package let result: Result<ServerConfiguration, ConfigurationError>

    /// What was passed over in the variables of other programs, for the log.
    package let warnings: [String]

    /// Puts values together.
    init(_ values: ConfigurationValues, warnings: [String] = []) {
        self.warnings = warnings
        self.settings = values.settings
        do throws(ConfigurationError) {
            self.result = .success(try ServerConfiguration(values))
        } catch {
            self.result = .failure(error)
        }
    }

    /// The configuration, after a look at the files and directories that it names.
    ///
    /// - Throws: `ConfigurationError` with everything that is wrong with either.
    package func checked() throws(ConfigurationError) -> ServerConfiguration {
        let problems = ConfigurationCheck.problems(of: self.settings)
        switch self.result {
        case .failure(let error): throw ConfigurationError(error.problems + problems)
        case .success(let configuration):
            let problems =
                problems + self.descriptorProblems(configuration)
                + configuration.sinkFileProblems(self.settings) + configuration.tls.problems()
                + configuration.auth.problems(
                    checksClientCertificates: configuration.tls.mode == .mtls)
            guard problems.isEmpty else { throw ConfigurationError(problems) }
            return configuration
        }
    }

    /// What the server's user could not read, where another user looks at it.
    ///
    /// - Parameter file: the file that `configuration` was read from.
    package func unreadableFiles(
        of configuration: ServerConfiguration, from file: String?
    ) -> [String] {
        guard let user = ServerUser(ofDataDirectory: configuration.dataDirectory) else { return [] }
        let settings = configuration.fileSettings(self.settings)
        let own = file.flatMap { user.problem(reading: $0) }
        return (own.map { [$0] } ?? [])
            + settings.compactMap { setting in
                user.problem(reading: setting.text).map {
                    ConfigurationValues.problem(setting, "the server could not read it: \($0)")
                }
            }
    }

    private func descriptorProblems(_ configuration: ServerConfiguration) -> [String] {
        guard let rule = configuration.descriptorRule(limit: DescriptorLimit.hard),
            let setting = self.settings.first(where: { $0.key.name == "connections.max" })
        else { return [] }
        return [ConfigurationValues.problem(setting, rule)]
    }

    /// The settings whose value differs from another configuration's.
    func changed(from other: LoadedConfiguration) -> [ConfigurationSetting] {
        zip(self.settings, other.settings).compactMap { $0.text == $1.text ? nil : $0 }
    }
}
