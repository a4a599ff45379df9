// The peer: `benchmark.Echo` on gRPC C++ with its callback API, on a free port of the loopback; says where in the way of
// the gateway's ready line. Over TLS where two arguments name the certificate's and the key's file.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include <grpcpp/grpcpp.h>

#include "echo.grpc.pb.h"

class EchoService final : public benchmark::Echo::CallbackService {
    grpc::ServerUnaryReactor *Say(grpc::CallbackServerContext *context, const benchmark::EchoMessage *request,
                                  benchmark::EchoMessage *reply) override {
        reply->set_text(request->text());
        grpc::ServerUnaryReactor *reactor = context->DefaultReactor();
        reactor->Finish(grpc::Status::OK);
        return reactor;
    }
};

static std::string contents(const char *path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

int main(int count, char **arguments) {
    std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials();
    if (count == 3) {
        grpc::SslServerCredentialsOptions options;
        options.pem_key_cert_pairs.push_back({contents(arguments[2]), contents(arguments[1])});
        credentials = grpc::SslServerCredentials(options);
    }
    EchoService service;
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", credentials, &port);
    builder.RegisterService(&service);
    std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
    if (!server) return 1;
    std::printf("{\"event\":\"ready\",\"listeners\":{\"echo\":\"127.0.0.1:%d\"}}\n", port);
    std::fflush(stdout);
    server->Wait();
}
