// The files that sinks name: those of listed ones too, and what has to be in them.
internal import ConfigurationKeys

extension ServerConfiguration {
    /// What is wrong with the files of the sinks, beyond what the keys' own settings tell.
    func sinkFileProblems(_ settings: [ConfigurationSetting]) -> [String] {
        self.sinks.flatMap { sink in
            let own = Self.settings(of: sink, settings)
            let listed = own.filter { sink.settings[$0.key.name] != nil }
            let problems = ConfigurationCheck.problems(of: listed)
            guard problems.isEmpty else { return problems }
            return sink.kind.row.fileProblems(sink.configuration(in: self)).compactMap { problem in
                guard let setting = own.first(where: { $0.key.name == problem.key }),
                    // That it cannot be read has been told already.
                    ConfigurationCheck.problems(of: [setting]).isEmpty
                else { return nil }
                return ConfigurationValues.problem(setting, problem.rule)
            }
        }
    }

    /// The settings that name a file: the server's own, and those of the listed sinks.
    func fileSettings(_ settings: [ConfigurationSetting]) -> [ConfigurationSetting] {
        let listed = self.sinks.flatMap { sink in
            Self.settings(of: sink, settings).filter { sink.settings[$0.key.name] != nil }
        }
        return (settings + listed).filter { setting in
            !setting.text.isEmpty && ["file", "PEM file"].contains(setting.key.unit)
        }
    }

    /// The settings as a sink sees them: those of its item, where `sinks` has it, come first.
    private static func settings(
        of sink: ListedSink, _ settings: [ConfigurationSetting]
    ) -> [ConfigurationSetting] {
        let list = settings.first { $0.key.name == "sinks" }
        return settings.map { setting in
            guard let text = sink.settings[setting.key.name], let list else { return setting }
            return ConfigurationSetting(key: setting.key, text: text, origin: list.origin)
        }
    }
}
