print("protoc-gen-gateway")
