// What is wrong with the keys of the webhook sink.
package import ConfigurationKeys
package import SinkKit

extension WebhookConfiguration: SinkConfiguration {
    /// Refuses what the sink cannot use.
    package func check(
        _ problems: inout ConfigurationProblems<Self>, of sink: SinkInConfiguration
    ) {
        if self.url.isEmpty {
            problems.refuse(\.url, "the webhook sink needs it, as in https://example.com/hits")
        } else {
            do throws(WebhookURL.Refusal) {
                _ = try WebhookURL(self.url)
            } catch {
                problems.refuse(\.url, "has to \(error)")
            }
        }
        if self.secretFile.isEmpty {
            problems.refuse(
                \.secretFile,
                "the webhook sink needs it: (printf whsec_; openssl rand -base64 32) > FILE")
        }
        if let word = AddressGuard.badWord(in: self.allow) {
            problems.refuse(
                \.allow,
                "\"\(word)\" is neither a host, nor an address, nor a network such as 10.1.0.0/16")
        }
        if !WebhookURL.isURIText(self.source) {
            problems.refuse(\.source, "has to be a URI reference: printable ASCII, no spaces")
        }
    }

    /// Refuses a file without a secret that signs.
    package func checkFiles(_ problems: inout ConfigurationProblems<Self>) {
        do {
            _ = try WebhookSecretFile.keys(at: self.secretFile)
        } catch {
            problems.refuse(\.secretFile, "\(error)")
        }
    }
}
