// `sightline sinks try`: whether Campaign's servers answer. No hit is sent: each would count.
internal import AsyncHTTPClient
internal import Foundation
internal import NIOHTTP1
package import SinkKit
internal import TrackingRules

extension CampaignSink {
    /// Asks each server of each tenant for the path of the requests, without ids: there is nothing
    /// to count. Writes nothing, because a customer's report would show it.
    package func probe(_ hit: HitBatch) async -> [ProbeStep] {
        var steps: [ProbeStep] = []
        for server in self.configuration.allServers {
            steps += await self.probe(server)
            if steps.contains(where: { $0.outcome == .failed }) { return steps }
        }
        steps.append(
            .skipped("write", "no hit is sent: Campaign would count it in a customer's report"))
        return steps
    }

    private func probe(_ server: PostbackServer) async -> [ProbeStep] {
        let url = URLComponents(string: server.url)
        let isSecure = url?.scheme == "https"
        // Brackets belong to the URL, not to the address.
        let host = (url?.host ?? "").trimmingCharacters(in: ["[", "]"])
        let port = url?.port ?? (isSecure ? 443 : 80)
        let probe = HostProbe(
            host: host, port: port, key: "campaign.servers", timeout: server.timeout)
        var steps = await probe.steps()
        if steps.last?.outcome == .failed { return steps }
        switch await self.client.ask(server) {
        case .success(let status):
            if isSecure { steps.append(.worked("TLS", "the certificate of \(host) is accepted")) }
            steps.append(Self.step(status, of: server))
        case .failure(let error) where isSecure && !(error is HTTPClientError):
            steps.append(
                .failed(
                    "TLS", "\(host): \(error)",
                    fix: "the certificate has to be valid for \(host) and of an authority in the "
                        + "system's CAs (ca-certificates), or in campaign.tls.roots"))
        case .failure(let error):
            steps.append(
                .failed(
                    "request", "\(server.name): \(PostbackClient.reason(error))",
                    fix: "check that an HTTP server listens there, and "
                        + "campaign.standard_timeout_seconds or campaign.classic_timeout_seconds"))
        }
        return steps
    }

    /// What a status says of a request without ids.
    static func step(_ status: UInt, of server: PostbackServer) -> ProbeStep {
        let seen = "\(server.name) answers status \(status) to a request without ids"
        return switch status {
        case 300...399:
            .failed(
                "request", "\(seen): redirects are not followed",
                fix: "name the server that it leads to in campaign.servers")
        case 408, 429, 500...599:
            .failed(
                "request", "\(seen): it takes no hits now",
                fix: "try again later; hits wait in the journal meanwhile")
        case 400...499:
            // It may be what it answers where ids are missing.
            .worked(
                "request",
                "\(seen); if hits become dead letters with this status, check campaign.path")
        default: .worked("request", seen)
        }
    }
}

extension CampaignConfiguration {
    /// Each tenant's servers, by the tenants' names.
    fileprivate var allServers: [PostbackServer] {
        self.servers.keys.sorted().flatMap { tenant in
            [.standard, .classic].compactMap { self.server(of: tenant, $0) }
        }
    }
}

extension PostbackClient {
    /// The status of an answer to a request without ids.
    fileprivate func ask(_ server: PostbackServer) async -> Result<UInt, any Error> {
        do {
            return .success(try await self.answer(server.url, within: server.timeout).status.code)
        } catch {
            return .failure(error)
        }
    }
}
